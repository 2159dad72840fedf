import { configAddress, type ActorContext } from '@shardlab/actor'

/** Writes to config.changelog. */
export async function logChange(context: ActorContext, what: string, ns: string, details: Uint8Array): Promise<void> {
  await context.request(configAddress, 'config.log-change', {
    what,
    ns,
    details,
    from: `${context.address}:${context.endpoint}`,
  })
}
