import type { Address, LogLevel, PortState, TlsState } from '@shardlab/actor'
import type { Listen, PortLimits } from '../../runtime.js'
import type { GatewayTarget } from './gateway-target.js'

export interface OpenedGateway extends PortState {
  readonly host: string
  readonly port: number
  readonly tls: TlsState | null
  /** Accepts no new connections and answers the running commands. */
  close(): Promise<void>
  destroy(): void
}

export interface GatewayRequest extends Listen {
  readonly address: Address
  readonly target: GatewayTarget
  /** See `OutboxOptions.atEndOfTurn`. */
  readonly atEndOfTurn: (flush: () => void) => void
  readonly accepts: () => boolean
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void
  /** A limit of {@link Listen.limits} is reached. */
  readonly onLimit: (limit: keyof PortLimits, value: number) => void
}

/** Rejects when the port cannot be bound. */
export type GatewayOpener = (request: GatewayRequest) => Promise<OpenedGateway>

/** Imports the gateway on first use: a host without clients never evaluates it. */
export const openTcpGateway: GatewayOpener = async (request) => {
  const { openGateway } = await import('../../gateway/index.js')
  return openGateway(request)
}
