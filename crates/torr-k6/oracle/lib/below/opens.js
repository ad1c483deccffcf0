export const below = open('../../data/note.txt');

// The path is relative to what runs, which is the script by then.
export const later = () => {
  try {
    return open('./data/note.txt');
  } catch (error) {
    return open('../../data/note.txt');
  }
};
