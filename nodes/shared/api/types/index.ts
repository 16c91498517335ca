export * from './call';
export * from './campaign';
export * from './dnd';
export * from './chat';
