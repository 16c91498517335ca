import { alreadyDone } from '../shared/n8n/alreadyDone';

/** Told when a later item stops the run, so that nobody is called again on the next one. */
export const alreadyPlaced = alreadyDone({
	one: 'call was already placed',
	several: 'calls were already placed',
});
