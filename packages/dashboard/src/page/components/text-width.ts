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
export function fitting(text: string, width: number): string {
  if (width < leastWidth) return ''
  if (widthOf(text) <= width) return text
  const letters = [...text]
  const length = letters.findLastIndex((_, at) => at > 0 && widthOf(`${letters.slice(0, at).join('')}…`) <= width)
  return length === -1 ? '' : `${letters.slice(0, length).join('')}…`
}
