import { MissingOpenDetail } from '../core/explained';
import { CALL_LIST_FIELDS } from './callList';
import { CHAT_FIELDS } from './chat';
import { DND_FIELDS } from './dnd';
import type { OpenDetailFields } from './field';
import { OPEN_PLACES } from './places';

/** A topic of open details: in the credential form its fields appear behind its switch. */
export type OpenDetailTopic = {
	switchName: string;
	switchLabel: string;
	switchDescription: string;
	fields: OpenDetailFields;
};

export const OPEN_DETAIL_TOPICS: readonly OpenDetailTopic[] = [
	{
		switchName: 'describeDnd',
		switchLabel: 'Open Details: Do-Not-Disturb Lists',
		switchDescription:
			'Whether to say how your service names the values of its do-not-disturb requests. Needed by the DND node.',
		fields: DND_FIELDS,
	},
	{
		switchName: 'describeCallList',
		switchLabel: 'Open Details: Call List',
		switchDescription:
			'Whether to say how your service names the filters of its call list. Needed by Get Call → Get Many.',
		fields: CALL_LIST_FIELDS,
	},
	{
		switchName: 'describeChat',
		switchLabel: 'Open Details: Chat',
		switchDescription:
			'Whether to say how your service names the values of its chat requests. Needed by Chat Send without a WebSocket and by Chat Session → Create.',
		fields: CHAT_FIELDS,
	},
];

export type OpenDetailName =
	| keyof typeof DND_FIELDS
	| keyof typeof CALL_LIST_FIELDS
	| keyof typeof CHAT_FIELDS;

/** The open details that the account's owner settled in the credential. */
export class OpenDetails {
	constructor(private readonly credential: { [name: string]: unknown }) {}

	/** @throws MissingOpenDetail naming the field of the credential to fill in */
	required(name: OpenDetailName): string {
		const value = this.optional(name);
		if (value !== undefined) return value;
		const topic = OPEN_DETAIL_TOPICS.find(({ fields }) => name in fields);
		const field = topic?.fields[name];
		if (topic === undefined || field === undefined) throw new Error(`no open detail ${name}`);
		throw new MissingOpenDetail(
			`The credential does not say yet: “${field.label}”`,
			`Open the credential, turn on “${topic.switchLabel}” and fill in “${field.label}”. Ask whoever provides your service; their document leaves it open under “${OPEN_PLACES[field.place].section}”.`,
		);
	}

	optional(name: OpenDetailName): string | undefined {
		const value = this.credential[name];
		return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
	}
}
