/**
 * The file of `--keyFile`: base64, since 4.2 also a YAML list of one or two keys. Manual:
 * core/security-internal-authentication. Server: security_file.cpp, security_key.cpp.
 */
import { readFileSync, statSync } from 'node:fs'
import type { LogLine } from './server-log.js'

const keyLengthMin = 6
const keyLengthMax = 1024
const keysMax = 2

const line = { component: 'ACCESS', context: 'main' }

/** Why the server does not start with it, as a line of its log; null: it does. */
export function keyFileProblem(path: string): LogLine | null {
  const read = textOf(path)
  if ('message' in read) return read
  const keys = keysIn(read.text)
  const wrong = /[^A-Za-z0-9+/=]/.exec(keys.join(''))
  if (wrong !== null) return unreadable(65, 'UnsupportedFormat', `invalid char in key file ${path}: ${wrong[0]}`)
  if (keys.length > keysMax)
    return {
      ...{ ...line, severity: 'E', id: 20258, message: 'Only two keys are supported in the security key file' },
      attributes: { numKeys: keys.length, filename: path },
    }
  const outside = keys.find(({ length }) => length < keyLengthMin || length > keyLengthMax)
  if (outside === undefined) return null
  return {
    ...{ ...line, severity: 'E', id: 20255, message: 'Security key size is out range' },
    attributes: {
      ...{ filename: path, size: outside.length },
      ...{ minimumLength: keyLengthMin, maximumLength: keyLengthMax },
    },
  }
}

function textOf(path: string): { readonly text: string } | LogLine {
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & 0o77) !== 0)
      return unreadable(30, 'InvalidPath', `permissions on ${path} are too open`)
    return { text: readFileSync(path, 'utf8') }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'No such file or directory' : message
    return unreadable(30, 'InvalidPath', `Error reading file ${path}: ${reason}`)
  }
}

/** A list has a line for each key; a single key may have many lines. */
function keysIn(text: string): string[] {
  const entries = [...text.matchAll(/^-[ \t]+(.*)$/gm)].map(([, key]) => key!)
  return (entries.length > 0 ? entries : [text]).map((key) => key.replaceAll(/\s/g, ''))
}

const unreadable = (code: number, codeName: string, errmsg: string): LogLine => ({
  ...{ ...line, id: 20254, message: 'Read security file failed', attributes: { error: { code, codeName, errmsg } } },
})
