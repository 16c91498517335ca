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
import { ANSWER_KEY, buildQuestion, NOT_REACHED, type Question } from '../ask/question';
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

/** n8n knows the first two by their names: as a human review it fills in the one and settles the other. */
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
				description: 'Only what you list counts as yes or as no',
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
			'The captured values that mean yes, separated by commas. Nothing else counts as yes. Capital letters make no difference.',
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
			'The captured values that mean no, separated by commas. Any value in neither list is returned as unclear.',
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
		displayName: 'Answer Key',
		name: 'answerKey',
		type: 'string',
		default: ANSWER_KEY,
		description: 'The name of the answer in data_captured',
	},
	{
		displayName: 'Answer Path',
		name: 'answerPath',
		type: 'string',
		default: '',
		placeholder: 'e.g. data_captured.order.approved',
		description:
			'The path to the answer in the call record, if it is not under its key in data_captured. Separate names by dots.',
	},
	greetingField,
	{
		displayName: 'Not Reached Statuses',
		name: 'notReachedStatuses',
		type: 'string',
		default: NOT_REACHED,
		description:
			'Statuses of calls that nobody answered, separated by commas. Known statuses are not_picked and failed; add any others that your account uses.',
	},
	personNameField,
	{
		...waitField,
		description:
			'How to wait for the answer, and how long. Without this option, the execution sleeps until the call is completed, for up to 2 hours; as a tool, the node reads the call repeatedly instead.',
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
		'Places a real phone call to ask a person one question, waits for the end of the call, and answers with what the person said: yes, no, not_reached or unclear. Only yes is a yes. Use this only when a person has to decide, or knows what nobody else does, and once for each question. While timed_out is true the call goes on: the same request again waits further and calls nobody.',

	async execute(run) {
		const { context } = run;
		const asking = placeCalls(run, readQuestion);
		if (!returnsErrorsToReview(context)) return await asking;
		// n8n would tell the model that the person rejected, whatever went wrong.
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
			answerKey: options.text('answerKey'),
			answerPath: options.text('answerPath'),
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
