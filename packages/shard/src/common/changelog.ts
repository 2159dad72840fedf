/** Server: sharding_logging.cpp. */
import { configAddress, RequestFailedError, type ActorContext, type RequestOptions } from '@shardlab/actor'

/** For entries that a migration can do without. */
const optionalEntry: RequestOptions = { timeoutMs: 10_000 }

/** @throws RequestFailedError */
export function logChange(
  context: ActorContext,
  what: string,
  ns: string,
  details: Uint8Array,
  options?: RequestOptions,
): Promise<unknown> {
  const change = { what, ns, details, from: `${context.address}:${context.endpoint}` }
  return context.request(configAddress, 'config.log-change', change, options)
}

/** Logs a warning when the config server cannot be reached. */
export function logChangeIfReachable(
  context: ActorContext,
  what: string,
  ns: string,
  details: Uint8Array,
): Promise<unknown> {
  return logChange(context, what, ns, details, optionalEntry).catch((error: unknown) => {
    if (!(error instanceof RequestFailedError)) throw error
    context.log('warn', 'an entry could not be written to config.changelog', { what, ns })
  })
}
