import {
	SEND_AND_WAIT_OPERATION,
	type INodeExecutionData,
	type INodeProperties,
} from 'n8n-workflow';
import { parseList } from '../../shared/calls/callEnd';
import { type Fields, MAY_BE_BLANK } from '../../shared/n8n/forms/fields';
import type { Operation } from '../../shared/n8n/run/operations';
import { failureForModel } from '../../shared/n8n/tools/toolResult';
import { returnsErrorsToReview } from '../../shared/n8n/tools/toolRun';
import { withoutAnswer } from '../ask/answer';
import { ANSWER_FIELD, buildQuestion, NOT_REACHED, type Question } from '../ask/question';
import {
	additionalDataField,
	callOptions,
	callSettingsField,
	dataExtractionField,
	greetingField,
} from '../detailFields';
import { placeCalls, readDataPoints } from '../placeCalls';
import { waitField } from '../wait/waitFields';
import { personNameField, whoFields } from '../recipientFields';

/** As human review, n8n fills in the first field and fixes the second one, by their names. */
const questionFields: INodeProperties[] = [
	{
		displayName: 'Question',
		name: 'message',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		required: true,
		placeholder: 'e.g. Ask whether we may ship order A-1042 without the spare parts',
		description: 'What the agent should ask the person, as a data point to extract in the call',
	},
	{
		displayName: 'Response Type',
		name: 'responseType',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Any Answer',
				value: 'freeText',
				description: 'Any captured value is the answer',
			},
			{
				name: 'Yes or No',
				value: 'approval',
				description: 'Only the values that you list count as yes or no',
			},
		],
		default: 'approval',
		description: 'What kind of answer is expected',
	},
	{
		displayName: 'Counts as Yes',
		name: 'yesValues',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. yes, true',
		description:
			"The captured values that mean yes, separated by commas. Nothing else counts as yes. Upper and lower case don't matter.",
		displayOptions: { show: { responseType: ['approval'] } },
	},
	{
		displayName: 'Counts as No',
		name: 'noValues',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. no, false',
		description:
			'The captured values that mean no, separated by commas. A value in neither list is returned as unclear.',
		displayOptions: { show: { responseType: ['approval'] } },
	},
];

const answerOptions: INodeProperties[] = [
	{
		displayName: 'Answer Format',
		name: 'answerFormat',
		type: 'string',
		default: '',
		placeholder: 'e.g. yes or no',
		description: 'The format in which the agent should capture the answer, in your own words',
	},
	{
		displayName: 'Answer Field',
		name: 'answerField',
		type: 'string',
		default: ANSWER_FIELD,
		description: 'The field of data_captured in which the service returns the answer',
	},
	{
		displayName: 'Answer Field in Call Record',
		name: 'answerFieldInRecord',
		type: 'string',
		default: '',
		placeholder: 'e.g. data_captured.order.approved',
		description:
			"The field of the call record that contains the answer, if it isn't 'Answer Field' in data_captured. Use dots for nested fields.",
	},
	greetingField,
	{
		displayName: 'Not Reached Statuses',
		name: 'notReachedStatuses',
		type: 'string',
		default: NOT_REACHED,
		description:
			'Statuses of calls that nobody answered, separated by commas. Known statuses are not_picked and failed. Add any others that your account uses.',
	},
	personNameField,
	{
		...waitField,
		description:
			'How to wait for the answer, and how long. Without this option, the execution waits until the call is completed, for up to 2 hours. As a tool, the node reads the call repeatedly instead, until the time limit of tools.',
	},
];

export const sendAndWait: Operation = {
	value: SEND_AND_WAIT_OPERATION,
	name: 'Ask and Wait',
	action: 'Ask person by phone and wait for answer',
	description: 'Call a person, ask a question, and continue with the answer',
	fields: [
		...whoFields,
		...questionFields,
		dataExtractionField,
		additionalDataField,
		callSettingsField,
		callOptions(...answerOptions),
	],
	toolDescription:
		'Places a real phone call to ask a person one question, waits for the end of the call, and returns the answer: yes, no, answered, not_reached, or unclear. Only yes is an approval. Use this only if a person has to decide or has information that you need, and once for each question. If timed_out is true, the call may still be in progress. Repeat the same request to wait longer. It does not place another call.',

	async execute(run) {
		const { context } = run;
		const asking = placeCalls(run, readQuestion);
		if (!returnsErrorsToReview(context)) return await asking;
		// After an error, n8n would tell the model that the person rejected.
		return await asking.catch((error: unknown) => [notAsked(error)]);
	},
};

function readQuestion(form: Fields): Question {
	const options = form.collection('options');
	return buildQuestion({
		message: form.text('message', MAY_BE_BLANK),
		responseType: form.choice('responseType', 'approval'),
		yesValues: form.scalars('yesValues', MAY_BE_BLANK),
		noValues: form.scalars('noValues', MAY_BE_BLANK),
		options: {
			answerFormat: options.textAsWritten('answerFormat'),
			answerField: options.text('answerField'),
			answerFieldInRecord: options.text('answerFieldInRecord'),
			...(options.has('notReachedStatuses') && {
				notReachedStatuses: parseList(options.textOrList('notReachedStatuses')).join(),
			}),
		},
		points: readDataPoints(form),
	});
}

function notAsked(error: unknown): INodeExecutionData {
	return { json: withoutAnswer(failureForModel(error)), pairedItem: { item: 0 } };
}
