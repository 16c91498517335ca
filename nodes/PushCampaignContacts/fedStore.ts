import type { IExecuteFunctions } from 'n8n-workflow';
import { NotSent } from '../shared/api/errors';
import type { FedStore } from './feed/fedMemory';
import { inTurn } from '../shared/inTurn';

const SCOPE = 'node';
const OPTIONS = { mode: 'entries' } as const;

/**
 * n8n's deduplication store of this node: one JSON list of fingerprints in n8n's database, read and
 * written whole each time.
 */
export function openFedStore({ helpers }: IExecuteFunctions): FedStore {
	const reached = async <T>(answer: Promise<T>): Promise<T> =>
		await answer.catch((error: unknown) => {
			throw unreachable(error);
		});
	return {
		add: async (keys) => {
			const { new: added } = await reached(helpers.checkProcessedAndRecord(keys, SCOPE, OPTIONS));
			return added.map(String);
		},
		remove: async (keys) => await reached(helpers.removeProcessed(keys, SCOPE, OPTIONS)),
		clear: async () => await reached(helpers.clearAllProcessedItems(SCOPE, OPTIONS)),
		count: async () => await reached(helpers.getProcessedDataCount(SCOPE, OPTIONS)),
	};
}

function unreachable(error: unknown): NotSent {
	return new NotSent(
		'n8n’s memory of the numbers fed before cannot be read or written, so what is left of the feed was not sent',
		'Save the workflow and try again. If that does not help, ask whoever runs your n8n to look at its database, or turn Skip Numbers Fed Before off.',
		error instanceof Error ? error.message : String(error),
		false,
		'n8n',
	);
}

/** Runs after whatever else uses the node’s memory in this process: two runs would overwrite what the other has noted. */
export async function inTurnOfMemory<T>(
	context: IExecuteFunctions,
	run: () => Promise<T>,
): Promise<T> {
	return await inTurn(JSON.stringify([context.getWorkflow().id, context.getNode().id]), run);
}
