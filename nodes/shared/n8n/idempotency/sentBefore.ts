import type { IExecuteFunctions } from 'n8n-workflow';
import { asSentence, type ExplainedError, OutcomeUnknown } from '../../api/errors';
import { ExecutionStore } from './executionStore';
import { openWriteAheadLog } from './openWriteAheadLog';
import { areRecords } from './requestRecord';

/**
 * Whether an earlier attempt of the execution may have sent any item, also if the items can't be read. True if n8n's store
 * can't be reached.
 */
export async function mayBeSentBefore(context: IExecuteFunctions): Promise<boolean> {
	try {
		const records = new ExecutionStore(context, 'requests', areRecords).read() ?? {};
		return Object.keys(records).length > 0 || (await mayHaveBegunAny(context));
	} catch {
		return true;
	}
}

/**
 * Whether an earlier attempt of the execution may have started any request whose result n8n didn't store. True if n8n's
 * store can't be reached.
 */
export async function mayHaveBegunAny(context: IExecuteFunctions): Promise<boolean> {
	try {
		return (await (await openWriteAheadLog(context))?.mayHaveBegunAny()) ?? false;
	} catch {
		return true;
	}
}

/** The error of an item that an earlier attempt may have sent, although this one can't send it. */
export function maybeSentBefore(error: ExplainedError): OutcomeUnknown {
	return sentBefore(
		error,
		"Then retry the execution again. An earlier attempt may have sent this item, so don't send it in a new execution.",
	);
}

/** The error of an item that an earlier attempt completed, perhaps with other values, although this one can't read it. */
export function completedBefore(error: ExplainedError): OutcomeUnknown {
	return sentBefore(
		error,
		'An earlier attempt completed this item, so leave it out of a new execution.',
	);
}

function sentBefore(error: ExplainedError, advice: string): OutcomeUnknown {
	const { message, resolution, resolutionForModel: forModel, originalMessage } = error;
	const onScreen = `${asSentence(resolution)} ${advice}`;
	return new OutcomeUnknown(message, { onScreen, forModel }, originalMessage, undefined, 'n8n');
}
