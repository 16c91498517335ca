import { sendInboundAsync } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { asyncValues, sendKeyed } from '../shared/chat/chatRequests';
import { readAdditions } from '../shared/n8n/forms/options';
import type { Prepare } from '../shared/n8n/run/chatItems';
import { asItems } from '../shared/n8n/run/itemLoop';
import { idempotencyKey, messageTarget } from './idempotency';
import { requireAccepted } from './messageState';
import { readInbound } from './sendByRequest';

/** Sends a message without waiting for the reply. */
export const sendByAsync: Prepare = (form) => {
	const message = readInbound(form);
	const key = idempotencyKey(form, message, [message.message]);
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { message, key, additions },
		target: messageTarget(message),
		idempotencyKey: key === '' ? undefined : key,
		repeat: 'afterCompletion',
		send: async ({ account: { client, apiMapping } }) => {
			const values = asyncValues(apiMapping, message, key);
			const post = async () => await sendInboundAsync(client, values, additions);
			return asItems(recordOf(await sendKeyed(client, key !== '', post, requireAccepted)));
		},
	};
};
