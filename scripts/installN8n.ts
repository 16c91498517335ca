/** Installs the n8n of the tests, so that they don't wait for it. */
import { installHost } from '../test/n8n/host';

void installHost(console.log);
