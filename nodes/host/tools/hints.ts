export * from '../execution/hints';
