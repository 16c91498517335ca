/**
 * Fields that stay empty if an expression returns nothing, by node and path. All of them are data of a row, which may
 * have a blank cell. Every other field changes what the node does, so the node stops.
 */
export const MAY_BE_BLANK: { [place: string]: string } = {
	'placeCall › personName': 'a name, which the agent then does not use',
	'placeCall › timeZone': 'a person whose country has one time zone',
	'placeCall › options.personName': 'the same, for a question',
	'placeCall › options.initialGreeting': 'an opening line, for which the agent has a default',
	'placeCall › options.additionalDataFields.fields[0].value': 'one value about the person',
	'dnd › reason': 'a remark about the entry',
	'dnd › campaignId': 'a person who was only called, not pushed, has none',
	'chatSession › personName': 'the name of a customer',
	'chatSession › metadata': 'further data about the customer',
	'chatSend › sessionId': 'a new customer has none, and the agent is required then',
	'chatSend › agentUuid': 'the session already has an agent, and one of the two is required',
};

/** Fields in which true and false are values like any text. */
export const TAKES_TRUE_AND_FALSE: { [place: string]: string } = {
	'placeCall › options.additionalDataFields.fields[0].value': 'it is passed to the agent unchanged',
	'placeCall › yesValues': 'a captured value may be true or false',
	'placeCall › noValues': 'a captured value may be true or false',
};

/** JSON fields, which are text fields in a tool. An object is valid, too. */
export const IS_JSON = new Set([
	...['additionalBodyFields', 'additionalQueryParameters', 'contacts', 'metadata'],
]);
