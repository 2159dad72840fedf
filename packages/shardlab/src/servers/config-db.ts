import { ServerOptionError } from './server-error.js'

/**
 * `csrs/127.0.0.1:27019,127.0.0.1:27020`, of `--configdb`.
 * @throws ServerOptionError
 */
export function parseHosts(configDb: string): { readonly setName: string; readonly hosts: readonly string[] } {
  const match = /^([^/]+)\/(.+)$/.exec(configDb)
  if (match === null) throw new ServerOptionError('BadValue: configdb supports only replica set connection string')
  const hosts = match[2]!.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:27019`))
  return { setName: match[1]!, hosts }
}
