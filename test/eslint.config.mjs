export { default } from '../eslint.types.config.mjs';
