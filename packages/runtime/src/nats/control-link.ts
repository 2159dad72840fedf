/** Calls, answers and reports between the supervisor and one machine. */
import type { Broker, BrokerSubscription } from './broker.js'
import { decodeControl, encodeControl } from './control-codec.js'
import { FrameLink } from './frame-link.js'
import type { LinkSettings } from './host-links.js'

export interface ControlLinkOptions {
  readonly broker: Broker
  readonly settings: LinkSettings
  /** Subjects. */
  readonly from: string
  readonly to: string
  readonly receive: (message: unknown) => void
  /** What was sent may be lost, and answers do not come. */
  readonly onBroken: (why: string) => void
}

export class ControlLink {
  readonly #frames: FrameLink
  readonly #subscription: BrokerSubscription
  readonly #timer: NodeJS.Timeout

  constructor({ broker, settings, from, to, receive, onBroken }: ControlLinkOptions) {
    this.#frames = new FrameLink({
      ...settings,
      send: (message) => broker.publish(to, message),
      onFrame: (frame) => receive(decodeControl(frame)),
      onLimit: () => {},
      onBroken,
    })
    this.#subscription = broker.subscribe(from, ({ content }) => this.#frames.receive(content))
    this.#timer = setInterval(() => this.#frames.tick(), settings.tickMs).unref()
  }

  send(message: unknown): void {
    this.#frames.write(encodeControl(message))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#subscription.close()
    this.#frames.close()
  }
}
