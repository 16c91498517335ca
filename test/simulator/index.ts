export { outcomeByNumber } from './calls/outcomeByNumber';
export type { CallOutcome } from './calls/completions';
export { dialects, type Dialect } from './dialects';
export type { Fault, FaultKind } from './http/faults';
export type { RecordedRequest } from './http/requestLog';
export { startSimulator, type Simulator } from './simulator';
export { filled, fixtures } from './state/fixtures';
export type { SimulatorOptions } from './world';
export type { Call } from './state/types';
