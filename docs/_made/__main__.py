"""Write the pages that are made from the code: `make pages`, and every build of the documentation."""

from _made import pages

if __name__ == "__main__":
    for path in pages.write():
        print(path)
