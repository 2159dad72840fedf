/** Elements into which a class draws: canvases, and what a library makes. */
import { noChange, type ElementPart } from 'lit-html'
import { AsyncDirective, directive } from 'lit-html/async-directive.js'
import type { DirectiveResult } from 'lit-html/directive.js'

export interface Drawing<Data> {
  /** With each drawing of the page, so it compares the data with those that it shows. */
  show(data: Data): void
  /** The element is no longer in the page. */
  end(): void
}

/**
 * @param begin called once for each element
 * @returns a directive for the element: `<div ${drawn(data)}></div>`
 */
export function drawnBy<Data>(begin: (element: HTMLElement) => Drawing<Data>): (data: Data) => DirectiveResult {
  class DrawingDirective extends AsyncDirective {
    #drawing: Drawing<Data> | null = null

    override render(_data: Data): unknown {
      return noChange
    }

    override update({ element }: ElementPart, [data]: [Data]): unknown {
      this.#drawing ??= begin(element as HTMLElement)
      this.#drawing.show(data)
      return noChange
    }

    override disconnected(): void {
      this.#drawing?.end()
      this.#drawing = null
    }
  }
  return directive(DrawingDirective)
}
