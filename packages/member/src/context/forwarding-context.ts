import type {
  ActorContext,
  CancelSignal,
  Address,
  AttachableObject,
  Attachment,
  ClusterEvent,
  Disk,
  LogLevel,
  MessageKind,
  MutationName,
  Random,
  ReplyOf,
  RequestOf,
  RequestOptions,
  StepDetail,
  PortState,
  TlsState,
} from '@shardlab/actor'

/** The base of contexts that change a part of another one. */
export class ForwardingContext implements ActorContext {
  readonly endpoint: string
  readonly random: Random
  readonly disk: Disk
  protected readonly context: ActorContext

  constructor(context: ActorContext) {
    this.context = context
    this.endpoint = context.endpoint
    this.random = context.random
    this.disk = context.disk
  }

  get address(): Address {
    return this.context.address
  }

  secretBytes(length: number): Uint8Array {
    return this.context.secretBytes(length)
  }

  now(): number {
    return this.context.now()
  }

  steadyNow(): number {
    return this.context.steadyNow()
  }

  resolve(name: Address): readonly Address[] {
    return this.context.resolve(name)
  }

  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.context.request(to, kind, request, options)
  }

  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    this.context.send(to, kind, request)
  }

  sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    return this.context.sleep(durationMs, signal)
  }

  exit(): void {
    this.context.exit()
  }

  tls(): TlsState | null {
    return this.context.tls()
  }

  port(): PortState | null {
    return this.context.port()
  }

  pageFaults(): number {
    return this.context.pageFaults()
  }

  nextTurn(): Promise<void> {
    return this.context.nextTurn()
  }

  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return this.context.all(values)
  }

  detach(work: Promise<unknown>): void {
    this.context.detach(work)
  }

  setTimer(name: string, delayMs: number): void {
    this.context.setTimer(name, delayMs)
  }

  clearTimer(name: string): void {
    this.context.clearTimer(name)
  }

  reach(step: string, detail?: StepDetail): Promise<void> {
    return this.context.reach(step, detail)
  }

  attach<Packed>(object: () => AttachableObject | null, pack: () => Packed): Attachment | Packed {
    return this.context.attach(object, pack)
  }

  mutated(mutation: MutationName): boolean {
    return this.context.mutated(mutation)
  }

  emit(event: ClusterEvent): void {
    this.context.emit(event)
  }

  wants(type: ClusterEvent['type']): boolean {
    return this.context.wants(type)
  }

  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.context.log(level, message, fields)
  }
}
