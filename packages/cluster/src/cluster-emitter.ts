import { EventEmitter } from 'eventemitter3'
import type { ClusterEvents } from './cluster-events.js'

/** Calls {@link listenersChanged} after each change of the listeners. */
export abstract class ClusterEmitter extends EventEmitter<ClusterEvents> {
  protected abstract listenersChanged(): void

  override on<E extends keyof ClusterEvents>(
    event: E,
    listener: (...args: ClusterEvents[E]) => void,
    context?: unknown,
  ): this {
    super.on(event, listener, context)
    this.listenersChanged()
    return this
  }

  override addListener<E extends keyof ClusterEvents>(
    event: E,
    listener: (...args: ClusterEvents[E]) => void,
    context?: unknown,
  ): this {
    return this.on(event, listener, context)
  }

  override once<E extends keyof ClusterEvents>(
    event: E,
    listener: (...args: ClusterEvents[E]) => void,
    context?: unknown,
  ): this {
    super.once(event, listener, context)
    this.listenersChanged()
    return this
  }

  override removeListener<E extends keyof ClusterEvents>(
    event: E,
    listener?: (...args: ClusterEvents[E]) => void,
    context?: unknown,
    once?: boolean,
  ): this {
    super.removeListener(event, listener, context, once)
    this.listenersChanged()
    return this
  }

  override off<E extends keyof ClusterEvents>(
    event: E,
    listener?: (...args: ClusterEvents[E]) => void,
    context?: unknown,
    once?: boolean,
  ): this {
    return this.removeListener(event, listener, context, once)
  }

  override removeAllListeners(event?: keyof ClusterEvents): this {
    super.removeAllListeners(event)
    this.listenersChanged()
    return this
  }
}
