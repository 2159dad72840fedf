import { parentPort } from 'node:worker_threads'
import { serveLane } from './serve-lane.js'

serveLane(parentPort!)
