// The instructions of clients/README.md, as data.

/** A sentence that ends with the name of a file, or nothing; then a fenced block. */
const BLOCK = /(?:`(?<file>[^`\n]+)`:\n\n)?```(?<language>\w+)\n(?<text>[\s\S]*?\n)```/g;

const SHARED_HEADING = "Save the contract";

/**
 * What the README tells the users of one language to do, in its order: `{ command }` is a block of shell lines,
 * `{ file, text }` a file to save. The lines that are the same in every language come first.
 *
 * @throws if the README has no such section, or a block that is neither
 */
export function stepsOf(readme, heading) {
  return [...blocksOf(readme, SHARED_HEADING), ...blocksOf(readme, heading)];
}

function blocksOf(readme, heading) {
  const section = readme.split(/^(?=#{2,3} )/m).find((part) => part.match(/^#+ (.*)$/m)?.[1] === heading);
  const steps = [...(section ?? "").matchAll(BLOCK)].map(({ groups }) => stepOf(heading, groups));
  if (steps.length === 0) throw new Error(`clients/README.md has no section "${heading}" with code in it`);
  return steps;
}

function stepOf(heading, { file, language, text }) {
  if (language === "sh") return { command: text };
  if (file !== undefined) return { file, text };
  throw new Error(
    `clients/README.md, "${heading}": the line before a block of ${language} must end with the file's name`,
  );
}
