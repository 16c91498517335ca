import { readAdditions } from '../shared/n8n/forms/options';
import type { Prepare } from '../shared/n8n/run/chatItems';
import { MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { asItems } from '../shared/n8n/run/itemLoop';
import { parseSessionId, requireText, sessionKey } from '../shared/chat/parseChatFields';
import { injectContext } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import type { OutcomeUnknown } from '../shared/api/errors';
import { forEveryone } from '../shared/api/resolution';

/** Adds one entry and returns the session's full context list (Chat › `inject_context`). */
export const injectOne: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId', MAY_BE_BLANK));
	const context = requireText(form.textAsWritten('context', MAY_BE_BLANK), 'Context');
	const additions = readAdditions(form.collection('developerSettings'));
	return {
		payload: { sessionId, context, additions },
		target: ['context', sessionKey(sessionId)],
		withDetails: (error) => maybeInjected(sessionId, error),
		repeat: 'afterCompletion',
		send: async ({ account: { client } }) =>
			asItems(recordOf(await injectContext(client, sessionId, { context }, additions))),
	};
};

/** The response to the next entry contains the full list, so it shows whether this entry was added. */
function maybeInjected(sessionId: string, error: OutcomeUnknown): OutcomeUnknown {
	return error.withText({
		message: `${error.message} (context of session ${sessionId})`,
		resolution: forEveryone(
			"The entry wasn't sent again. The next entry for this session returns the full list, which shows whether this one was added.",
		),
	});
}
