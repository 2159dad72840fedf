/** Server: server_options_helpers.cpp, security_file.cpp, security_key.cpp. */
import { readFileSync, statSync } from 'node:fs'
import { ServerOptionError } from './server-error.js'

export interface AuthOptions {
  /** `--auth`. */
  readonly auth: boolean
  readonly noauth: boolean
  /** `security.authorization` of a configuration file. */
  readonly authorization: string | null
  readonly keyFile: string | null
  readonly setName: string | null
}

/**
 * Whether clients need a user: a key file says so, too. Members trust each other without its key.
 * @throws ServerOptionError
 */
export function authOf({ auth, noauth, authorization, keyFile, setName }: AuthOptions): boolean {
  if (authorization !== null && authorization !== 'enabled' && authorization !== 'disabled')
    throw bad('security.authorization expects either "enabled" or "disabled"')
  if (keyFile !== null) checkKeyFile(keyFile)
  const isEnabled = auth || authorization === 'enabled'
  if (isEnabled && setName !== null && keyFile === null)
    throw bad('security.keyFile is required when authorization is enabled with replica sets')
  return isEnabled || (keyFile !== null && !noauth && authorization === null)
}

function checkKeyFile(path: string): void {
  let text: string
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & 0o77) !== 0)
      throw new ServerOptionError(`InvalidPath: permissions on ${path} are too open`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof ServerOptionError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'No such file or directory' : message
    throw new ServerOptionError(`InvalidPath: Error reading file ${path}: ${reason}`)
  }
  const key = text.replaceAll(/\s/g, '')
  const wrong = /[^A-Za-z0-9+/=]/.exec(key)
  if (wrong !== null) throw new ServerOptionError(`UnsupportedFormat: invalid char in key file ${path}: ${wrong[0]}`)
  if (key.length < 6 || key.length > 1024)
    throw bad(`security key in ${path} has length ${key.length}, must be between 6 and 1024 chars`)
}

const bad = (reason: string): ServerOptionError => new ServerOptionError(`BadValue: ${reason}`)
