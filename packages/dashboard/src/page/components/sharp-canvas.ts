import { textFont } from './text-width.js'

/**
 * Prepares a canvas for a new drawing in CSS pixels, as sharp as the screen allows, with the font
 * of charts and maps.
 * @param size in CSS pixels
 */
export function cleared(
  canvas: HTMLCanvasElement,
  size: { readonly width: number; readonly height: number },
): CanvasRenderingContext2D {
  const ratio = devicePixelRatio
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)]
  // Setting a size clears the canvas and is slow.
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width
    canvas.height = height
    canvas.style.height = `${size.height}px`
  }
  const context = canvas.getContext('2d')!
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, size.width, size.height)
  context.font = textFont
  context.textBaseline = 'middle'
  return context
}
