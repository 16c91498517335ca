import { parseSessionId, requireText } from '../../core/chat/parseChatFields';
import { sessionField } from '../../host/forms/chatFields';
import { shownWhere } from '../../host/forms/shownWhere';
import { eachChatItem, type Prepare } from '../../host/run/chatItems';
import type { Operation } from '../../host/run/operations';
import { sendFrame } from '../send';
import { FRAMES_AT_ONCE, liveOptions } from './sendMessage.operation';

export const answerInteraction: Operation = {
	value: 'answerInteraction',
	name: 'Answer Interaction',
	action: 'Answer interactive chat message',
	description: 'Choose an option of buttons, a list, or a carousel, or enter free-form input',
	fields: [
		sessionField,
		{
			displayName: 'Interaction ID',
			name: 'interactionId',
			type: 'string',
			default: '',
			required: true,
			description: 'The ID of the interactive message that the customer answers',
		},
		{
			displayName: 'Answer With',
			name: 'answerWith',
			type: 'options',
			noDataExpression: true,
			options: [
				{ name: 'An Option', value: 'option' },
				{ name: 'Free-Form Input', value: 'response' },
			],
			default: 'option',
			description: 'Whether to choose one of the options or to enter text',
		},
		shownWhere(
			{
				displayName: 'Option ID',
				name: 'optionId',
				type: 'string',
				default: '',
				required: true,
				description: 'The ID of the chosen button, list entry, or card in the interactive message',
			},
			{ answerWith: ['option'] },
		),
		shownWhere(
			{
				displayName: 'Response',
				name: 'response',
				type: 'string',
				typeOptions: { rows: 3 },
				default: '',
				required: true,
				description: 'What the customer enters',
			},
			{ answerWith: ['response'] },
		),
		liveOptions,
	],
	toolDescription:
		'Answers an interactive message of the AI agent in a chat session (buttons, a list, or a carousel) for the customer. Use this only for what the customer has chosen.',

	execute: eachChatItem((form) => answer(form), FRAMES_AT_ONCE),
};

/** A live connection is the only documented way. */
const answer: Prepare = (form) => {
	const sessionId = parseSessionId(form.text('sessionId'));
	const textOf = (name: string, field: string) => requireText(form.text(name), field);
	const interaction_id = textOf('interactionId', 'Interaction ID');
	const chosen =
		form.choice('answerWith', 'option') === 'response'
			? { response: textOf('response', 'Response') }
			: { option_id: textOf('optionId', 'Option ID') };
	return sendFrame(form, sessionId, { type: 'interaction_response', interaction_id, ...chosen });
};
