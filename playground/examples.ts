import type { Linked } from "./link.ts";

/** A request to begin with. */
export interface Example extends Linked {
  readonly name: string;
  /**
   * What a right answer is, checked with the embedded model: by question the label, "true" or "false", or the level; of
   * a ranking the best candidate.
   */
  readonly expected: Readonly<Record<string, string>>;
}

const pretty = (body: unknown): string => JSON.stringify(body, null, 2);

export const EXAMPLES: readonly Example[] = [
  {
    name: "Complaint",
    operation: "systemone",
    body: pretty({
      state: "I was charged twice for one order. Give me my money back today or I will go to my bank!",
      questions: {
        intent: {
          type: "choice",
          instructions: "What does the customer want?",
          criteria: {
            refund: "Wants money back for a charge",
            cancel: "Wants to end a subscription",
            technical: "Reports a technical fault",
          },
        },
        angry: { type: "noul", instructions: "The customer is angry." },
        urgency: {
          type: "score",
          instructions: "How urgent is this?",
          criteria: ["can wait", "this week", "today"],
        },
      },
    }),
    expected: { intent: "refund", angry: "true", urgency: "2" },
  },
  {
    name: "Ticket with fields",
    operation: "systemone",
    body: pretty({
      state: {
        subject: "Cannot log in",
        from: "ana@example.com",
        body: "Since this morning the page says that my password is wrong, although I reset it twice.",
      },
      questions: {
        team: {
          type: "choice",
          instructions: "Which team should handle this?",
          criteria: {
            accounts: "Log-in, passwords and profiles",
            billing: "Invoices, charges and refunds",
            delivery: "Parcels and couriers",
            sales: "Offers and new contracts",
          },
        },
        password: { type: "noul", instructions: "The message is about a password." },
      },
    }),
    expected: { team: "accounts", password: "true" },
  },
  {
    name: "Choose a tool",
    operation: "systemone",
    body: pretty({
      state: "Set an alarm for half past six tomorrow morning.",
      questions: {
        tool: {
          type: "choice",
          instructions: "Which tool should the assistant call?",
          criteria: {
            weather: "Gets the weather forecast of a place",
            alarm: "Sets an alarm or a timer",
            music: "Plays songs or radio",
            message: "Sends a message to a contact",
          },
        },
      },
    }),
    expected: { tool: "alarm" },
  },
  {
    name: "Review",
    operation: "systemone",
    body: pretty({
      state:
        "Wonderful hotel! The room was spotless, the staff were kind and breakfast was delicious. We will come back.",
      questions: {
        rating: {
          type: "score",
          instructions: "Rate the review.",
          criteria: ["very negative", "negative", "neutral", "positive", "very positive"],
        },
        staff: { type: "noul", instructions: "The guest praises the staff." },
      },
    }),
    expected: { rating: "4", staff: "true" },
  },
  {
    name: "Spam",
    operation: "systemone",
    body: pretty({
      state:
        "CONGRATULATIONS!!! You have been selected to receive a 1000 dollar gift card. Click http://win-now.example to claim your prize within 24 hours.",
      questions: {
        spam: { type: "noul", instructions: "The message is spam." },
        kind: {
          type: "choice",
          instructions: "What kind of message is this?",
          criteria: {
            spam: "Unwanted advertising or a fraud",
            personal: "A message between people who know each other",
            order: "News about an order",
          },
        },
      },
    }),
    expected: { spam: "true", kind: "spam" },
  },
  {
    name: "Message in German",
    operation: "systemone",
    body: pretty({
      state: "Mein Paket ist seit zwei Wochen unterwegs und immer noch nicht angekommen. Wo ist es?",
      questions: {
        intent: {
          type: "choice",
          instructions: "What does the customer want?",
          criteria: {
            delivery: "Asks where a parcel is",
            refund: "Wants money back",
            cancel: "Wants to end a contract",
          },
        },
      },
    }),
    expected: { intent: "delivery" },
  },
  {
    name: "Rank replies",
    operation: "rank",
    body: pretty({
      state: "The kettle that I bought two days ago no longer heats.",
      question: "Which reply helps the customer most?",
      candidates: {
        manual: "Please read chapter four of the manual.",
        replace: "We will send a new kettle today, free of charge.",
        thanks: "Thank you for your message.",
      },
    }),
    expected: { best: "replace" },
  },
  {
    name: "Rank next steps",
    operation: "rank",
    body: pretty({
      state: "The printer reports a paper jam.",
      question: "What should the user do first?",
      candidates: ["Open the printer and pull out the paper.", "Buy new ink.", "Call the bank."],
    }),
    expected: { best: "0" },
  },
];
