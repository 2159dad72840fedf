import { configAddress } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

/**
 * This router uses the result at once, other routers after their next ping.
 * @returns null: the settings are removed
 * @throws CommandError of the config server
 */
export async function changeSettings({ host, body, operation }: MongosInvocation): Promise<Uint8Array | null> {
  const request = { command: body }
  const reply = await host.remote.request(configAddress, 'config.change-query-settings', request, operation)
  raise(reply.error)
  host.learnQuerySettings(reply.parameter)
  return reply.configuration
}
