/** Server: server_options_helpers.cpp. */
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
  const isEnabled = auth || authorization === 'enabled'
  if (isEnabled && setName !== null && keyFile === null)
    throw bad('security.keyFile is required when authorization is enabled with replica sets')
  return isEnabled || (keyFile !== null && !noauth && authorization === null)
}

const bad = (reason: string): ServerOptionError => new ServerOptionError(`BadValue: ${reason}`)
