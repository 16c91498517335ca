import type { ITriggerFunctions } from 'n8n-workflow';
import { chosenTypes } from '../shared/n8n/chatFields';
import { splitSessionIds } from '../shared/chat/chatInput';
import { InvalidInput } from '../shared/api/errors';

export type TriggerSettings = {
	sessionIds: string[];
	watches: boolean;
	/** Null where every event is passed. */
	types: ReadonlySet<string> | null;
	takeOver: boolean;
};

/** @throws InvalidInput when there would be nothing to listen to */
export function readSettings(context: ITriggerFunctions): TriggerSettings {
	const settings = {
		sessionIds: splitSessionIds(context.getNodeParameter('sessionIds', '')),
		watches: context.getNodeParameter('watchSessions', false) === true,
		types: chosenTypes(
			context.getNodeParameter('eventTypes', []),
			context.getNodeParameter('options.otherEventTypes', ''),
		),
		takeOver: context.getNodeParameter('takeOver', false) === true,
	};
	if (settings.sessionIds.length === 0 && !settings.watches) {
		throw new InvalidInput(
			'There is no chat session to listen to',
			'Fill in Session IDs, or turn on Watched Sessions to add sessions while the workflow is active.',
		);
	}
	return settings;
}
