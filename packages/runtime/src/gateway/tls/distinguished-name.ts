/**
 * The name in a certificate as servers write it: RFC 2253, the last attribute first.
 * @param lines as `X509Certificate.subject`: one attribute `name=value` in each line, the first
 *   first; several of one level are joined by ` + `
 */
export function distinguishedName(lines: string): string {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .toReversed()
    .map((level) =>
      level
        .split(/(?<!\\) \+ /)
        .map(escaped)
        .join('+'),
    )
    .join(',')
}

/** Node.js has escaped what could be mistaken, but not the characters of RFC 2253. */
function escaped(attribute: string): string {
  const at = attribute.indexOf('=')
  const value = attribute
    .slice(at + 1)
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/[,+"\\<>;]/g, String.raw`\$&`)
    .replace(/^[ #]/, String.raw`\$&`)
    .replace(/ $/, String.raw`\ `)
  return `${attribute.slice(0, at)}=${value}`
}
