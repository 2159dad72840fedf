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
    .map((level) => attributesOf(level).map(escaped).join('+'))
    .join(',')
}

/**
 * Whether a certificate is for members of a cluster: its organizations, units and domains are those
 * of a member's certificate, and it has some. Server: ssl_manager.cpp, isClusterMember.
 * @param lines of both certificates, as {@link distinguishedName}
 */
export function isOfCluster(lines: string, ofMember: string): boolean {
  const own = clusterAttributes(lines)
  return own.length > 0 && own.join('\n') === clusterAttributes(ofMember).join('\n')
}

const clusterAttributes = (lines: string): string[] =>
  lines
    .split('\n')
    .flatMap(attributesOf)
    .filter((attribute) => /^(O|OU|DC)=/.test(attribute))
    .toSorted()

const attributesOf = (level: string): string[] => level.split(/(?<!\\) \+ /)

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
