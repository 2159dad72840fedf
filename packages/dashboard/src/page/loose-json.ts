/** Extended JSON as people type it: names may be without quotes. */

/** Strings, which are kept, or names before a colon. */
const stringOrName = /"(?:[^"\\]|\\.)*"|([A-Za-z_$][\w.$]*)(\s*:)/g

/** @returns strict JSON @throws SyntaxError */
export function strictJson(text: string): string {
  const given = text.trim() === '' ? '{}' : text
  const strict = given.replace(stringOrName, (all, name: string | undefined, colon: string) =>
    name === undefined ? all : `"${name}"${colon}`,
  )
  JSON.parse(strict)
  return strict
}
