/**
 * The format of values, with an example, by field label. The description of a tool has them, because n8n's button "Let the model
 * define this parameter" sends only the label to the model. So has the error for a value in the wrong format.
 */
const FORMATS = {
	'Additional Body Fields': 'JSON text such as {"region": "south"}',
	'Additional Query Fields': 'JSON text such as {"locale": "en"}',
	Agent: 'an agent ID such as "agent_5f2c9a", not a name',
	'Call ID': 'a call_id such as "6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00"',
	Campaign: 'the ID of a campaign such as "42", not a name',
	'Campaign ID': 'a number such as "42", not a name',
	Command: 'the exact name of a command of the service',
	'Contact List ID': 'a campaign_upload_id such as "314"',
	Contacts: 'JSON text such as [{"phone": "9876543210", "person_name": "Asha"}]',
	Context: 'one text such as "Wants a visit on Saturday"',
	Country: 'the two-letter code such as "IN" for India',
	'Counts as No': 'answers with commas between them, such as "no, false"',
	'Counts as Yes': 'answers with commas between them, such as "yes, true"',
	'Date and Time': 'a time with its UTC offset, such as "2027-01-31T18:30:00+05:30"',
	Events: 'event types with commas between them, such as "message_received, session_closed"',
	Fields: 'field names with commas between them, such as "call_id, status"',
	From: 'a date such as "2027-01-31", or a time with its UTC offset such as "2027-01-31T18:30:00+05:30"',
	'Interaction ID': 'the ID in the interactive message, such as "interaction_1"',
	JSON: 'JSON text such as {"plan": "Gold", "city": "Pune"}',
	Message: 'the words of the customer, such as "Is the flat still available?"',
	Metadata: 'JSON text such as {"plan": "gold"}',
	'Option ID': 'as in the interactive message, such as "option_2"',
	Phone: 'a number with + and its country code, such as "+919876543210"',
	'Phone Contains': 'some digits such as "98765"',
	'Phone Number': 'digits such as "9876543210"',
	Question: 'what to ask, such as "Ask whether we may ship order A-1042"',
	'Recording and Transcript': 'names with commas between them, such as "transcript, recording"',
	'Session ID':
		'the session_id that is returned when the session is created, such as "0f8fad5b-d9cb-469f-a165-70867728950e"',
	Status: '"picked", "not_picked", or "failed". Any other one is sent to the service as it is',
	'Time in India': 'a 24-hour time such as "18:30"',
	// A date without a time means the start of the day, which would exclude the day.
	To: 'a time with its UTC offset such as "2027-02-28T23:59:59+05:30"',
	'When to Call':
		'"now", a 24-hour time in India such as "18:30", or a time with its UTC offset such as "2027-01-31T18:30:00+05:30"',
} as const satisfies { [label: string]: string };

export type FormLabel = keyof typeof FORMATS;

/** A sentence such as `Country: the two-letter code such as "IN" for India.` */
export function formatOf(label: FormLabel): string {
	return `${label}: ${FORMATS[label]}.`;
}

/** What to do about a value in the wrong format, such as `Enter the two-letter code such as "IN" for India.` */
export function enter(label: FormLabel): string {
	return `Enter ${FORMATS[label]}.`;
}

export function hasFormat(label: string): label is FormLabel {
	return Object.hasOwn(FORMATS, label);
}

const TIME_FIELDS = /'(?:Date and Time|From|Time in India|To|When to Call)'/;

/** Whether a message is about the value of a time field, for which a model needs the current time, which it can't know. */
export function namesTime(message: string): boolean {
	return TIME_FIELDS.test(message);
}
