/**
 * The name in a certificate as servers write it: RFC 2253, the last attribute first, but control
 * characters as they are. Server: ssl_manager_openssl.cpp, getCertificateSubjectX509Name;
 * ssl_manager.cpp, escapeRfc2253.
 * @param lines as `X509Certificate.subject`: one attribute `name=value` in each line, the first
 *   first; several of one level are joined by ` + `
 */
export function distinguishedName(lines: string): string {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .toReversed()
    .map((level) => attributesOf(level).toReversed().map(escaped).join('+'))
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

/** A plus sign within a value follows a backslash; two backslashes are one in the value. */
const attributesOf = (level: string): string[] => level.split(/(?<=(?:^|[^\\])(?:\\\\)*) \+ /)

/** Node.js has escaped what could be mistaken, control characters in hexadecimal digits. */
function escaped(attribute: string): string {
  const at = attribute.indexOf('=')
  const value = attribute
    .slice(at + 1)
    .replaceAll(/\\([0-9A-F]{2}|.)/g, (_, character: string) =>
      character.length === 2 ? String.fromCharCode(Number.parseInt(character, 16)) : character,
    )
    .replaceAll(/[,+"\\<>;]/g, String.raw`\$&`)
    .replaceAll(/^[ #]| $/g, String.raw`\$&`)
    .replaceAll(/[^\0-\x7f]+/g, hexBytes)
  return `${attribute.slice(0, at)}=${value}`
}

function hexBytes(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).toUpperCase()}`).join('')
}
