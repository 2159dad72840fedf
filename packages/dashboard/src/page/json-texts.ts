/** Strings, which are kept, or names before a colon. */
const stringOrName = /"(?:[^"\\]|\\.)*"|([A-Za-z_$][\w.$]*)(\s*:)/g

/** A document as people type it: names may be without quotes. @returns JSON @throws SyntaxError */
export function strictJson(text: string): string {
  const given = text.trim() === '' ? '{}' : text
  const strict = given.replace(stringOrName, (all, name: string | undefined, colon: string) =>
    name === undefined ? all : `"${name}"${colon}`,
  )
  JSON.parse(strict)
  if (!strict.trimStart().startsWith('{')) throw new SyntaxError('not a document')
  return strict
}

/** How a sentence ends about a text that `strictJson` refuses. @throws any other error */
export function notJson(error: unknown): string {
  if (!(error instanceof SyntaxError)) throw error
  return 'is not a document as JSON: texts need double quotes, and values are written as {"$oid": "…"}, {"$date": "…"}, {"$regex": "…"} or {"$numberDouble": "NaN"}.'
}

const bidiControls = /[\u202a-\u202e\u2066-\u2069]/g

/** Characters that would change the order of others are escaped. */
export const withoutBidi = (json: string): string =>
  json.replace(bidiControls, (control) => `\\u${control.charCodeAt(0).toString(16)}`)

const stringCharsMax = 40
const textCharsMax = 200

/** In a line of a list. The text itself: it is short enough. */
export function shortened(json: string): string {
  if (json.length <= stringCharsMax) return json
  const text = json.replace(/"((?:[^"\\]|\\.)*)"/g, (all, content: string) =>
    content.length <= stringCharsMax ? all : `"${content.slice(0, stringCharsMax / 2)}…"`,
  )
  return text.length <= textCharsMax ? text : `${text.slice(0, textCharsMax)}…`
}

/** null: a reply that was cut off is no JSON. */
export function parsed(json: string): object | null {
  try {
    return JSON.parse(json) as object
  } catch {
    return null
  }
}

/** Indented, without a change of its numbers: some have 64 bits. */
export function readable(json: string): string {
  let indent = ''
  return json.replace(/"(?:[^"\\]|\\.)*"|[{[]([\]}])?|[\]}]|,|:/g, (token, empty: string | undefined) => {
    if (token === ',') return `,\n${indent}`
    if (token === ':') return ': '
    if (empty !== undefined || token.startsWith('"')) return token
    if (token === '{' || token === '[') return `${token}\n${(indent += '  ')}`
    indent = indent.slice(2)
    return `\n${indent}${token}`
  })
}
