import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NotSent } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { sessionKey } from '../../core/chat/parseChatFields';
import { KeyedMutex, type Limiter } from '../../core/values/keyedMutex';
import type { AccountClient } from '../http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../forms/fields';
import type { PreparedRequest } from '../ledger/preparedRequest';
import type { OperationRun } from './operations';
import { deliverEachItem } from './deliverItems';
import { readConcurrency } from '../forms/options';

export type ChatDeps = {
	context: IExecuteFunctions;
	account: AccountClient;
};

/** Reads and checks the fields of one item, and returns the request to send. */
export type Prepare = (form: Fields) => PreparedRequest<ChatDeps>;

/**
 * Sends each item once. Items of the same session are sent in order.
 *
 * @param concurrency items in flight if 'Concurrency' isn't set
 */
export async function forEachChatItem(
	{ context, parameters, account }: OperationRun,
	prepare: Prepare,
	concurrency = 1,
): Promise<INodeExecutionData[]> {
	const mutex = new KeyedMutex(context.continueOnFail() ? undefined : earlierItemFailed);
	const limiterFor = (index: number): Limiter => {
		const session = sessionOf(parameters.at(index));
		return async (run) => (session === '' ? await run() : await mutex.runExclusive(session, run));
	};
	return await deliverEachItem(context, (index) => prepare(parameters.at(index)), {
		createDeps: async () => ({ context, account: await account() }),
		limiterFor,
		concurrency: readConcurrency(parameters, concurrency),
	});
}

/** Empty if the item creates a session. */
function sessionOf(form: Fields): string {
	return form.has('sessionId') ? sessionKey(form.text('sessionId', MAY_BE_BLANK)) : '';
}

function earlierItemFailed(): NotSent {
	return new NotSent(
		'Nothing was sent, because an earlier item of the same chat session failed',
		onScreenOnly('Handle the earlier item first, so that the conversation keeps its order.'),
	);
}
