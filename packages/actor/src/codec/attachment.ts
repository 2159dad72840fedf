/** An object that can be attached to a message. It must never change: many members may hold it. */
export interface AttachableObject {
  /** The size of its packed form; limits of bandwidth count it. */
  readonly sizeBytes: number
}

/**
 * An immutable object that the receiver gets as it is instead of packed. Only messages that stay in
 * one thread have attachments (`ActorContext.attach`).
 */
export class Attachment {
  readonly object: AttachableObject

  constructor(object: AttachableObject) {
    this.object = object
  }
}

/** @throws Error when the object is not of the class: the sender's broken invariant */
export function attachedObject<T extends AttachableObject>(
  { object }: Attachment,
  expected: { readonly prototype: T; readonly name: string },
): T {
  if (Object.getPrototypeOf(object) === expected.prototype) return object as T
  throw new Error(`a message has another object attached than the expected ${expected.name}`)
}
