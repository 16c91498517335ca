export * from './agents';
export * from './calls';
export * from './campaigns';
export * from './chat';
export * from './dnd';
export type { Additions } from './endpoint';
