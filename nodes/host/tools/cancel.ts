export * from '../execution/cancel';
