import type { Address, LogLevel } from '@shardlab/actor'
import type { GatewayTarget } from './gateway-target.js'

/** A listener of one member. */
export interface OpenedGateway {
  readonly host: string
  /** The bound port. */
  readonly port: number
  /** Orderly: accepts no new connections and answers the commands that are running. */
  close(): Promise<void>
  /** Resets all connections. */
  destroy(): void
}

export interface GatewayRequest {
  /** The member that clients reach there. */
  readonly address: Address
  readonly host: string
  readonly port: number
  readonly target: GatewayTarget
  /** Whether a new client may connect now. */
  readonly accepts: () => boolean
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void
}

/** Opens a listener. Rejects when the port cannot be bound. */
export type GatewayOpener = (request: GatewayRequest) => Promise<OpenedGateway>

/**
 * Opens a TCP listener. Imports the gateway on first use, so that a host without clients never
 * evaluates it.
 */
export const openTcpGateway: GatewayOpener = async (request) => {
  const { openGateway } = await import('../../gateway/index.js')
  return openGateway(request)
}
