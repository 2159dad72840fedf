import { shortened } from './chart-labels.js'

/** Of charts and maps. */
export const textFont = '12px system-ui, "DejaVu Sans", sans-serif'

/** Of a letter and an ellipsis. */
const leastWidth = 12

let context: CanvasRenderingContext2D | null = null

/** Pixels of a text in the font of charts and maps. */
export function widthOf(text: string): number {
  if (context === null) {
    context = document.createElement('canvas').getContext('2d')!
    context.font = textFont
  }
  return context.measureText(text).width
}

/** A text, or its beginning with an ellipsis; empty when not even one letter fits. */
export const fitting = (text: string, width: number): string =>
  width < leastWidth ? '' : shortened(text, width, widthOf)
