export { counted } from './counted.js'
export {
  durationFrom,
  durationMeant,
  durationPattern,
  formatDuration,
  parseDuration,
  readableDuration,
  timeUnitsMs,
} from './duration.js'
export { nearest, suggestion } from './nearest.js'
export { QuantityError } from './quantity-error.js'
export {
  bandwidthFrom,
  formatSize,
  parseSize,
  readableSize,
  sizeFrom,
  sizeUnitsBytes,
  withReadableSizes,
} from './size.js'
