import type { INodeExecutionData } from 'n8n-workflow';
import { NotSent } from '../../core/service/errors';
import { sessionKey } from '../../core/chat/parseChatFields';
import { KeyedMutex } from '../../core/values/keyedMutex';
import { type Fields, MAY_BE_BLANK } from '../forms/fields';
import type { PreparedRequest } from './preparedRequest';
import type { OperationRun } from './operations';
import { deliverEachItem } from './deliverItems';
import { readConcurrency } from '../forms/options';

/** Reads and checks the fields of one item, and returns the request to send. */
export type Prepare = (form: Fields) => PreparedRequest;

/**
 * Sends each item once. Items of the same session are sent in order.
 *
 * @param concurrency items in flight if 'Concurrency' isn't set
 */
export async function forEachChatItem(
	run: OperationRun,
	prepare: Prepare,
	concurrency = 1,
): Promise<INodeExecutionData[]> {
	const { caller, parameters } = run;
	const mutex = new KeyedMutex();
	/** Sessions of which an item failed, unless the node continues. */
	const stopped = new Set<string>();
	const inOrder = (index: number): PreparedRequest => {
		const form = parameters.at(index);
		const request = prepare(form);
		const session = sessionOf(form);
		if (session === '') return request;
		const queue: PreparedRequest['queue'] = async (send) =>
			await mutex.runExclusive(session, async () => {
				if (stopped.has(session)) throw earlierItemFailed();
				return await send().catch((error: unknown) => {
					if (!caller.continuesOnFail) stopped.add(session);
					throw error;
				});
			});
		return { ...request, queue };
	};
	return await deliverEachItem(run, inOrder, {
		concurrency: readConcurrency(parameters, concurrency),
	});
}

/** The `execute` of an operation that does only this. */
export const eachChatItem = (prepare: Prepare, concurrency?: number) => async (run: OperationRun) =>
	await forEachChatItem(run, prepare, concurrency);

/** Empty if the item creates a session. */
function sessionOf(form: Fields): string {
	return form.has('sessionId') ? sessionKey(form.text('sessionId', MAY_BE_BLANK)) : '';
}

function earlierItemFailed(): NotSent {
	return new NotSent(
		'Nothing was sent, because an earlier item of the same chat session failed',
		'Handle the earlier item first, so that the conversation keeps its order.',
	);
}
